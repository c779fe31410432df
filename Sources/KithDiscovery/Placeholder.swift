// The first file of KithDiscovery replaces this one.
