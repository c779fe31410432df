// The first file of KithCrypto replaces this one.
