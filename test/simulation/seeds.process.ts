import { report, runBatch } from './seeds.ts'

/** Arguments: the first seed, the step to the next one, and their number. Prints the violations, or nothing. */
const [first = 1, step = 1, count = 1] = process.argv.slice(2).map(Number)
const { failure } = await runBatch(Array.from({ length: count }, (_, index) => first + index * step))
if (failure !== null) process.stdout.write(report(failure))
