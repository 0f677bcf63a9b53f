internal import Glibc  // termios, and the signals that end a program while it is changed
internal import Synchronization

/// Puts a terminal into raw mode while this value lives: each byte is delivered as it comes and not echoed, and keys
/// cause no signals. Only one may exist in a process.
///
/// The terminal is restored even if the program is ended meanwhile: signals that would end it, and that it does not
/// handle itself, first restore the terminal.
struct RawMode: ~Copyable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// The descriptor that a signal handler restores. Taking it takes the right to restore.
    private static let changed = Atomic<Int32>(-1)
    /// The address of the usual mode, or 0.
    private static let usual = Atomic<UInt>(0)

    private let descriptor: Int32
    private let mode: UnsafeMutablePointer<termios>
    private var handled: [(signal: Int32, action: sigaction)] = []
    /// Whether unread input is discarded: a late answer would otherwise be typed into the shell.
    var discardsInput = false

    /// Enters raw mode; nil if the descriptor is not a terminal, or if another is in raw mode.
    init?(_ descriptor: Int32) {
        var present = termios()
        guard tcgetattr(descriptor, &present) == 0 else { return nil }
        let mode = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        mode.initialize(to: present)
        let address = UInt(bitPattern: mode)
        guard Self.usual.compareExchange(expected: 0, desired: address, ordering: .sequentiallyConsistent).exchanged
        else {
            mode.deallocate()
            return nil
        }
        (self.descriptor, self.mode) = (descriptor, mode)
        Self.changed.store(descriptor, ordering: .sequentiallyConsistent)
        handle()
        present.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG | IEXTEN)
        present.c_iflag &= ~tcflag_t(IXON | ICRNL | ISTRIP)
        (present.c_cc.6, present.c_cc.5) = (0, 0)
        tcsetattr(descriptor, TCSANOW, &present)
    }

    deinit {
        // Before the right to restore is given up: a signal may come while this waits, and restores once more.
        if Self.changed.load(ordering: .sequentiallyConsistent) >= 0 {
            // Not by TCSAFLUSH, which waits for a terminal that accepts nothing.
            if discardsInput { tcflush(descriptor, TCIFLUSH) }
            tcsetattr(descriptor, TCSANOW, mode)
        }
        Self.changed.store(-1, ordering: .sequentiallyConsistent)
        for (signal, action) in handled {
            var action = action
            sigaction(signal, &action, nil)
        }
        Self.usual.store(0, ordering: .sequentiallyConsistent)
        mode.deallocate()
    }

    /// Restores the terminal. For signal handlers: it only calls tcsetattr.
    static func restore() {
        let descriptor = changed.exchange(-1, ordering: .sequentiallyConsistent)
        guard descriptor >= 0 else { return }
        let address = usual.load(ordering: .sequentiallyConsistent)
        if let mode = UnsafePointer<termios>(bitPattern: address) { tcsetattr(descriptor, TCSANOW, mode) }
    }

    private mutating func handle() {
        for signal in Self.signals {
            var present = sigaction()
            guard sigaction(signal, nil, &present) == 0, present.__sigaction_handler.sa_handler == nil else { continue }
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { signal in
                RawMode.restore()
                // After this returns, the signal has its usual effect.
                var usual = sigaction()
                sigaction(signal, &usual, nil)
                raise(signal)
            }
            if sigaction(signal, &action, nil) == 0 { handled.append((signal, present)) }
        }
    }
}
