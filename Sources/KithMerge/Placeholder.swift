// The first file of KithMerge replaces this one.
