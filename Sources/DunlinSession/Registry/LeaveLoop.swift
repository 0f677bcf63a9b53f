/// The first line of a closure that leaves a loop for the user's code.
///
/// A closure that is `@concurrent` begins on the executor that was asked for, with one exception: if it has nothing to
/// do before it calls an async function that runs wherever its caller does (SE-0461), the compiler takes the change of
/// executor to be of no use, and leaves it out. The user's code would begin on the loop, and stay there up to its first
/// suspension. A call that the compiler cannot look into keeps the change where it is written.
@inline(never) func leaveLoop() {
    _ = Task.isCancelled
}
