import DunlinTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The order of what waits for what` {
    @Test(arguments: 0..<8) func `in no world of sessions and downloaders do requests wait for each other`(part: Int)
        async
    {
        for seed in 0..<400 {
            var dice = SeededGenerator(seed: UInt64(part * 400 + seed))
            let askers = dice.next(in: 2...9)
            let world = OrderWorld(seed: UInt64(part * 400 + seed), askers: askers)
            #expect(await world.run(askers: askers), "seed \(part * 400 + seed)")
            #expect(await world.refused == 0, "seed \(part * 400 + seed)")
        }
    }

    @Test(arguments: 1...4) func `two hundred who ask at once are all answered`(seed: UInt64) async {
        let world = OrderWorld(seed: seed, askers: 200)
        #expect(await world.run(askers: 200))
        // With a single connection, code three deep may need more than there are beyond the caps.
        let (asked, refused) = await (world.asked, world.refused)
        #expect(refused * 10 < asked, "\(refused) of \(asked)")
    }
}
