/// Which version of Dunlin this is.
package enum LibraryVersion {
    /// Stands here alone: the commands print it, and `.ci/checks/version` compares the documents with it.
    package static let number = "0.2.0"
}
