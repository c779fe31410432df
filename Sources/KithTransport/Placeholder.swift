// The first file of KithTransport replaces this one.
