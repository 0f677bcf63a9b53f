// Its headers have sigset_t too, and whichever module is read first owns it.
internal import CEpoll
internal import DunlinTypes
internal import Glibc

extension Socket {
    /// Bytes of `file` from `offset` on that the kernel took, at most `count`; zero when the file has no more, nil when
    /// the socket takes none now. The bytes never enter the process.
    public func sendFile(_ file: OpenFile, from offset: Int, count: Int) throws(Errno) -> Int? {
        let mask = PipeSignalMask()
        defer { mask.restore() }
        while true {
            var position = off_t(offset)
            let taken = sendfile(descriptor, file.descriptor, &position, count)
            if taken == count { return taken }
            let failure = errno
            // What fails after some bytes have gone has raised the signal, too, and reports those bytes.
            mask.swallow()
            if taken >= 0 { return taken }
            switch failure {
            case EINTR: continue
            case EAGAIN: return nil
            default: throw Errno(rawValue: failure)
            }
        }
    }
}

/// Keeps SIGPIPE from this thread: sendfile has no flag for that, and what the process does about the signal is not a
/// library's to change.
private struct PipeSignalMask {
    private var pipe = sigset_t()
    private var before = sigset_t()
    /// One that came from elsewhere, which stays.
    private let wasPending: Bool

    init() {
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        var pending = sigset_t()
        sigpending(&pending)
        wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
    }

    /// Takes back the signal that the call has raised, if it has.
    func swallow() {
        guard !wasPending else { return }
        var (pipe, now) = (pipe, timespec())
        while sigtimedwait(&pipe, nil, &now) < 0, errno == EINTR {}
    }

    func restore() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
