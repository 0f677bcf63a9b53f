import CSeccomp

/// Has the kernel refuse some calls of this process from now on, as a disk or a file system would that is not at hand.
struct Refusal {
    private enum Call {
        case lock, write, allocate

        var number: UInt32 {
            switch self {
            case .lock: dunlin_call_flock
            case .write: dunlin_call_pwrite
            case .allocate: dunlin_call_fallocate
            }
        }
    }

    private let calls: [Call]
    private let errno: Int32
    /// Where a call writes to, or how much it wants, at least: the fourth argument of both calls.
    private let least: UInt32

    /// No locks at all.
    static func locks(_ errno: Int32) -> Refusal { Refusal(calls: [.lock], errno: errno, least: 0) }

    /// No bytes of any file from there on, neither written nor set aside.
    static func room(from offset: UInt32, _ errno: Int32) -> Refusal {
        Refusal(calls: [.write, .allocate], errno: errno, least: offset)
    }

    /// For good, and for every thread. False if this kernel has no filters for calls.
    func begin() -> Bool {
        var filter = program
        return filter.withUnsafeMutableBufferPointer { filter in
            var program = sock_fprog(len: UInt16(filter.count), filter: filter.baseAddress)
            return dunlin_seccomp_promise() == 0 && dunlin_seccomp_filter(&program) == 0
        }
    }

    private var program: [sock_filter] {
        calls.flatMap { call in
            let argument = dunlin_seccomp_arguments + (call == .lock ? 0 : 3 * 8)
            return [
                sock_filter(code: dunlin_bpf_load, jt: 0, jf: 0, k: dunlin_seccomp_call),
                sock_filter(code: dunlin_bpf_jump_equal, jt: 0, jf: 3, k: call.number),
                sock_filter(code: dunlin_bpf_load, jt: 0, jf: 0, k: argument),
                sock_filter(code: dunlin_bpf_jump_from, jt: 0, jf: 1, k: least),
                sock_filter(code: dunlin_bpf_return, jt: 0, jf: 0, k: dunlin_seccomp_refuse | UInt32(errno)),
            ]
        } + [sock_filter(code: dunlin_bpf_return, jt: 0, jf: 0, k: dunlin_seccomp_allow)]
    }
}
