public import DunlinTypes

/// Sends bodies while their responses are awaited and read, in a child task of the call that ends with the call, after
/// its last upload.
///
/// ```swift
/// let uploads = UploadScope()
/// async let _: Void = uploads.run()
/// ```
public final class UploadScope: Sendable {
    private let queue = AsyncStream.makeStream(of: Upload.self)

    public init() {}

    /// Returns whether a request with this body must be sent within a scope.
    public static func isNeeded(for body: borrowing RequestBody) -> Bool {
        if body.trailers != nil { return true }
        switch body.content {
        case .none: return false
        case .bytes(let bytes): return bytes.count > RequestMessage.smallBody
        case .stream, .file: return true
        }
    }

    /// Sends uploads, one after another, until its task is cancelled.
    public func run() async {
        for await upload in queue.stream {
            await withTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: upload.runsOffLoop ? globalConcurrentExecutor : nil) {
                    await upload.run()
                }
                await upload.waitForRelease()
                group.cancelAll()
            }
        }
    }

    func start(_ upload: Upload) {
        queue.continuation.yield(upload)
    }
}
