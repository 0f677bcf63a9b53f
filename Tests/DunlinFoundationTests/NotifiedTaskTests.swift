import Dunlin
import Testing

@testable import DunlinFoundation

@Suite(.timeLimit(.minutes(10))) struct `Objects that stand for tasks` {
    @Test func `a task's object stays the same as long as a caller keeps it`() async throws {
        let objects = NotifiedTasks()
        let ids = try await Self.ids(2)
        var one: NotifiedTask? = objects[ids[0]]
        let other = objects[ids[1]]
        #expect(one === objects[ids[0]] && one !== other)
        #expect(objects.count == 2)
        one = nil
        #expect(objects.count == 1)
        #expect(objects[ids[0]] !== other)
        #expect(objects.count == 1)
        withExtendedLifetime(other) {}
    }

    @Test func `objects that concurrent callers asked for and released are all gone`() async throws {
        let objects = NotifiedTasks()
        let ids = try await Self.ids(4)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for turn in 0..<2000 {
                        let id = ids[(worker + turn) % ids.count]
                        let object = objects[id]
                        #expect(object.id == id && object === objects[id])
                    }
                }
            }
        }
        #expect(objects.count == 0)
    }

    private static func ids(_ count: Int) async throws -> [HTTPSession.TaskID] {
        let session = try HTTPSession()
        let tasks = try (0..<count).map { _ in try session.task("http://api.test/", as: .bytes) }
        defer { for task in tasks { task.cancel() } }
        return tasks.map(\.id)
    }
}
