internal import CEpoll
internal import Glibc

/// Raises every descriptor that Dunlin makes above the standard ones.
///
/// The kernel gives the lowest number that is free. In a program that has closed 0, 1 or 2 that is one of these, and
/// code that prints or reads there would use a connection or a file of ours.
enum Descriptor {
    /// The same descriptor at 3 or above. Throws the error of the call that should have made it, or of moving it.
    static func raised(_ descriptor: Int32) throws(Errno) -> Int32 {
        guard descriptor >= 0 else { throw Errno.last }
        guard descriptor < 3 else { return descriptor }
        let raised = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        let failure = Errno.last
        close(descriptor)
        guard raised >= 0 else { throw failure }
        return raised
    }

    /// The folder, open for reading its names; the caller closes it.
    static func folder(_ path: String) throws(Errno) -> OpaquePointer {
        let descriptor = try raised(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        if let folder = fdopendir(descriptor) { return folder }
        let failure = Errno.last
        close(descriptor)
        throw failure
    }

    /// Returns why `count` descriptors cannot be made now; nil if they can.
    static func shortage(of count: Int) -> Errno? {
        var made: [Int32] = []
        defer { for descriptor in made { close(descriptor) } }
        do throws(Errno) {
            for _ in 0..<count { made.append(try raised(dunlin_eventfd())) }
        } catch {
            return error
        }
        return nil
    }
}
