// Its headers have sigset_t too, and whichever module is read first owns it.
internal import CEpoll
internal import DunlinTypes
internal import Glibc

extension Socket {
    /// Sends at most `count` bytes of `file` from `offset` on. Returns how many the kernel took; zero when the file has
    /// no more, nil when the socket takes none now. The bytes never enter the process.
    public func sendFile(_ file: OpenFile, from offset: Int, count: Int) throws(Errno) -> Int? {
        let mask = PipeSignalMask()
        defer { mask.restore() }
        while true {
            var position = off_t(offset)
            let taken = sendfile(descriptor, file.descriptor, &position, count)
            if taken == count { return taken }
            let failure = errno
            // A call that fails after it has sent some bytes has raised the signal, too, and reports those bytes.
            mask.takeSignal()
            if taken >= 0 { return taken }
            switch failure {
            case EINTR: continue
            case EAGAIN: return nil
            default: throw Errno(rawValue: failure)
            }
        }
    }
}

/// Keeps SIGPIPE from this thread: sendfile has no flag for that, and a library may not change what the process does
/// about the signal.
private struct PipeSignalMask {
    private var pipe = sigset_t()
    private var before = sigset_t()
    /// Whether a signal from elsewhere was pending, which stays.
    private let wasPending: Bool

    init() {
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        var pending = sigset_t()
        sigpending(&pending)
        wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
    }

    /// Takes the signal that the call has raised, if it has.
    func takeSignal() {
        guard !wasPending else { return }
        var (pipe, now) = (pipe, timespec())
        while sigtimedwait(&pipe, nil, &now) < 0, errno == EINTR {}
    }

    func restore() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
