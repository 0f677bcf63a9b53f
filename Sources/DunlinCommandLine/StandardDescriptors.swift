internal import Glibc

/// Standard input, output and error as the command was started with them.
package enum StandardDescriptors {
    /// Puts something that can neither be read nor written where one is closed, so that no file or connection gets its
    /// number and what is meant for a terminal.
    package static func occupy() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // The lowest free number is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
