// The first file of KithStore replaces this one.
