import Dunlin
import DunlinFoundation
import Foundation

/// The parts of a notification that may leave its observer.
struct Note: Sendable {
    let name: Notification.Name
    let task: NotifiedTask?
    let isAboutSession: Bool
    let session: ObjectIdentifier?
    let keys: Set<String>
    let error: NSError?
    let body: Data?
    let value: String?
    let file: URL?
    let reason: String?
    let isOnMainThread: Bool

    init(_ notification: Notification) {
        name = notification.name
        task = notification.object as? NotifiedTask
        let session = notification.object as? HTTPSession
        isAboutSession = session != nil
        self.session = session.map { ObjectIdentifier($0) }
        let info = notification.userInfo ?? [:]
        keys = Set(info.keys.compactMap { $0 as? String })
        error = info[NotificationBridge.Key.error] as? NSError
        body = info[NotificationBridge.Key.responseData] as? Data
        value = info[NotificationBridge.Key.serializedResponse] as? String
        file = info[NotificationBridge.Key.assetPath] as? URL
        reason = info[NSLocalizedFailureReasonErrorKey] as? String
        isOnMainThread = Thread.isMainThread
    }
}

/// All that is posted at a center, in order.
struct Notes: Sendable {
    let center: NotificationCenter
    let stream: AsyncStream<Note>
    private let writer: AsyncStream<Note>.Continuation

    /// `object`: only what is about it.
    init(at center: NotificationCenter = NotificationCenter(), about object: NotifiedTask? = nil) {
        self.center = center
        let (stream, writer) = AsyncStream<Note>.makeStream()
        (self.stream, self.writer) = (stream, writer)
        _ = center.addObserver(forName: nil, object: object, queue: nil) { writer.yield(Note($0)) }
    }

    /// The next so many.
    func next(_ count: Int) async -> [Note] {
        var notes: [Note] = []
        for await note in stream {
            notes.append(note)
            if notes.count == count { break }
        }
        return notes
    }

    /// What was posted until now and not asked for yet.
    func rest() async -> [Note] {
        writer.finish()
        return await stream.reduce(into: []) { $0.append($1) }
    }
}
