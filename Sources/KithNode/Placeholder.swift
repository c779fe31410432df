// The first file of KithNode replaces this one.
