/// The version of this program, as `kith --version` prints it and nodes tell each other.
package enum KithVersion {
    package static let text = "0.1.0"
}
