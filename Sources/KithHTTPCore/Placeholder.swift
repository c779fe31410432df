// The first file of KithHTTPCore replaces this one.
