// The first file of KithReplication replaces this one.
