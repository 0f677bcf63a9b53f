// Runs each scenario with each policy, prints a table, and draws a picture of each scenario into the folder that the
// command line names. The same sources give the same bytes. With `--sample` the table has the rows of Dunlin alone.
import Glibc
import SimulatedWorld

let seeds: UInt64 = 20
let isSample = CommandLine.arguments.contains("--sample")
let folder = CommandLine.arguments.dropFirst().first { $0 != "--sample" }

var ofDunlin: [String: [Results]] = [:]

print(Table.head)
for scenario in Scenario.all {
    print("\n\(scenario.name): \(scenario.title)")
    var curves: [(Policy, [Int])] = []
    var asked: [Int] = []
    for policy in Policy.allCases {
        if policy == .dunlin || !isSample {
            let results = (1...seeds).map { seed -> Results in
                var random = Random(seed: seed)
                let varied = scenario.varied(&random)
                var world = World(varied, policy, seed: seed)
                world.run()
                return world.measures.results(varied)
            }
            print(Table.row(policy, .middle(results), .worst(results)))
            if policy == .dunlin { ofDunlin[scenario.name] = results }
        }
        // The picture is of the scenario as it is.
        var world = World(scenario, policy, seed: 0)
        world.run()
        curves.append((policy, world.measures.good))
        asked = world.measures.requests
    }
    guard let folder else { continue }
    let path = "\(folder)/simulation-\(scenario.name).svg"
    guard let file = fopen(path, "w") else {
        print("\(path) cannot be written")
        exit(1)
    }
    fputs(Picture(scenario, asked, curves).text, file)
    fclose(file)
}

print("\nWhat Dunlin is to reach, in the worst run:")
let load = Results.worst(ofDunlin.values.flatMap { $0 }).load
print("  load at most 1.20 in every scenario: \(Table.number(load, 2)), \(load <= 1.2 ? "reached" : "missed")")
let goodput = Results.worst(ofDunlin["overload"] ?? []).goodput
print("  goodput at least 0.90 in overload: \(Table.number(goodput, 2)), \(goodput >= 0.9 ? "reached" : "missed")")
