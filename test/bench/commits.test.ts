import { expect, test } from 'bun:test'
import { compareCommits } from '../../bench/commits/compare.ts'
import { inboundPath } from '../../bench/commits/inbound.ts'
import type { Path } from '../../bench/commits/path.ts'
import { rowOf } from '../../bench/commits/table.ts'
import { OURS } from '../../bench/gateway/source.ts'
import { microsecondsSince, threadTimes } from '../../bench/support/thread-times.ts'

const OTHER = { label: 'older', folder: '' }

/** Burns no time: `worked` gets the label of a gateway for each of its turns, whatever their number of bursts. */
function pathOf(worked: (label: string) => void): Path {
  return {
    name: 'nothing',
    open: ({ label }) =>
      Promise.resolve({
        pid: process.pid,
        connect: () =>
          Promise.resolve({ burst: () => Promise.resolve(worked(label)), [Symbol.dispose]: () => undefined }),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  }
}

/** Without repetitions of the same label. */
const changes = (labels: readonly string[]): string[] => labels.filter((label, at) => label !== labels[at - 1])

test('the working copy, the other commit and the working copy again take turns A B B A, and the row has each of them', async () => {
  const order: string[] = []
  const options = { sources: [OURS, OTHER], rounds: 1, short: true, long: false } as const
  const [row] = await compareCommits(
    pathOf((label) => order.push(label)),
    options,
  )
  const warmUp = ['sgw', 'older', 'again']
  const pair = ['sgw', 'older', 'again', 'older']
  expect(changes(order)).toEqual([...warmUp, ...pair, ...pair, 'sgw'])
  expect(row).toMatchObject({ path: 'nothing', starts: 1 })
  expect(Object.keys(row ?? {})).toContainValues(['sgw, µs', 'older, µs', 'again, µs', 'sgw ÷ older', 'sgw ÷ again'])
})

test('a row has the mean ratio of our figure to each other within a round, with its error', () => {
  const rounds = [
    { sgw: 206, older: 200, again: 204 },
    { sgw: 103, older: 100, again: 104 },
  ]
  expect(rowOf('send', rounds)).toEqual({
    path: 'send',
    'sgw, µs': '154.5',
    'older, µs': '150.0',
    'again, µs': '154.0',
    'sgw ÷ older': '1.030 ± 0.000',
    'sgw ÷ again': '1.000 ± 0.010',
    starts: 2,
    holds: '≤ 1.02',
    note: '',
  })
})

test('a row says when a commit differs too much from itself, and when its starts differ too much from each other', () => {
  const rounds = (...again: number[]): Record<string, number>[] =>
    again.map((each) => ({ sgw: 206, older: 200, again: each }))
  for (const again of [rounds(190, 190), rounds(222, 222), rounds(180, 240), rounds(206)]) {
    expect(rowOf('send', again).note).toContain('differs from itself')
  }
})

test('the time of all threads of a process is measured, however long they waited for a processor', () => {
  const before = threadTimes(process.pid)
  const { user, system } = process.cpuUsage()
  const used = (): number => process.cpuUsage().user + process.cpuUsage().system - user - system
  while (used() < 100_000) Bun.hash('work')
  expect(microsecondsSince(before, process.pid)).toBeGreaterThanOrEqual(80_000)
})

test('a burst of inbound events is over when socket and webhook have all of them', async () => {
  await using worker = await inboundPath.open(OURS)
  using load = await worker.connect()
  await load.burst()
  await load.burst()
  expect(threadTimes(worker.pid).get(worker.pid)).toBeGreaterThan(0)
})
