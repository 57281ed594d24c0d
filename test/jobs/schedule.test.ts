import { expect, test } from 'bun:test'
import { silentLog } from '../../src/core/log.ts'
import { Schedule } from '../../src/jobs/schedule.ts'
import { manualClock } from '../support/manual-clock.ts'
import { until } from '../support/world.ts'

test('work that is scheduled again replaces work that has not begun, and nothing runs after a stop', async () => {
  const clock = manualClock()
  const schedule = new Schedule(clock, silentLog)
  const ran: string[] = []
  const run = (name: string) => async () => void ran.push(name)
  schedule.once('again', 60_000, run('first'))
  clock.advance(30_000)
  schedule.once('again', 60_000, run('second'))
  clock.advance(59_999)
  expect(ran).toEqual([])
  clock.advance(1)
  await until(() => ran.length > 0)
  expect(ran).toEqual(['second'])
  schedule.once('again', 60_000, run('third'))
  schedule.once('again', 60_000, run('fourth'))
  await schedule.stop()
  clock.advance(120_000)
  expect(ran).toEqual(['second'])
})

test('work that fails runs again at its usual time', async () => {
  const clock = manualClock()
  const schedule = new Schedule(clock, silentLog)
  const times: number[] = []
  schedule.every('work', 1000, 0, () => {
    times.push(clock.monotonic())
    throw new Error('of the work')
  })
  clock.advance(3500)
  await schedule.stop()
  clock.advance(3500)
  expect(times).toEqual([0, 1000, 2000, 3000])
})
