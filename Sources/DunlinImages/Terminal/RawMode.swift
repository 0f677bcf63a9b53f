internal import Glibc  // termios, and the signals that end a program while it is changed
internal import Synchronization

/// A terminal that hands over each byte as it comes, shows none, and makes no signals of keys, for as long as this
/// lives. One at a time in a process.
///
/// Whatever ends the program meanwhile, the terminal is as it was: signals that would end it, and that the program does
/// not handle itself, restore it first.
struct RawMode: ~Copyable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// What a signal's handler restores: nothing but what it may touch. Taking the descriptor is taking the right to.
    private static let changed = Atomic<Int32>(-1)
    /// The address of the mode, or 0.
    private static let usual = Atomic<UInt>(0)

    private let descriptor: Int32
    private let mode: UnsafeMutablePointer<termios>
    private var handled: [(signal: Int32, action: sigaction)] = []
    /// What was not read yet is nobody's: an answer that comes late would be typed into the shell.
    var discardsInput = false

    /// Nil if the descriptor is no terminal, or another is in raw mode.
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
        // Before the right to do so is given up: a signal may come while this waits, and does the same once more.
        if Self.changed.load(ordering: .sequentiallyConsistent) >= 0 {
            // Not by TCSAFLUSH, which waits for a terminal that takes nothing.
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

    /// Puts the terminal back as it was. For handlers of signals: it calls tcsetattr, and no more.
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
                // Once this returns, the signal does what it would have done.
                var usual = sigaction()
                sigaction(signal, &usual, nil)
                raise(signal)
            }
            if sigaction(signal, &action, nil) == 0 { handled.append((signal, present)) }
        }
    }
}
