// Queries in Swift and typed collections: `import Kith` alone is enough for them.
@_exported import KithCoding
@_exported import KithQueryBuilder
