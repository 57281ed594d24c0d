import { type Contest, everybody, hold, onSlowDisks } from './rivals/contest.ts'
import { allSent, load } from './rivals/load.ts'
import { startProvider } from './rivals/provider-process.ts'
import type { Row } from './row.ts'
import { cpuMicroseconds } from './support/cpu-time.ts'

const ROUNDS = 3
const CONNECTIONS = 64
const LOAD_MS = 2000
/** A server runs for months: what is compiled in its first seconds is not its rate. */
const WARM_UP_MS = 8000
/** What a slow provider leaves of a longer one has to be waited for. */
const SLOW_WARM_UP_MS = 3000
const SLOW_PROVIDER_MS = 150
const SLOW_LOAD_MS = 1000
/** With a slow provider, calls at once are what bounds the floor: of 256, 1024, 2048 and 4096 this was the fastest. */
const SLOW_LANES = 1024

type Figure = 'sent/s' | 'accepted/s' | 'CPU µs' | 'messages'
const FIGURES = ['sent/s', 'accepted/s', 'CPU µs', 'messages'] as const
const DECIMALS = { 'sent/s': 0, 'accepted/s': 0, 'CPU µs': 0, messages: 0 }

const INSTANT: Contest<Figure> = {
  rounds: ROUNDS,
  entries: [...everybody(), ...onSlowDisks],
  figures: FIGURES,
  decimals: DECIMALS,
  bars: {
    sgw: '0.28 → 0.40 of floor, CPU 88 → 64 µs',
    'Kannel, file store': 'sgw 3 × it',
    'Express + BullMQ + Redis + SQLite': 'sgw 14 × it',
  },
  turn: (start) => sendAll(start, 0, WARM_UP_MS, LOAD_MS),
}

const SLOW: Contest<Figure> = {
  rounds: ROUNDS,
  entries: everybody(SLOW_LANES),
  figures: FIGURES,
  decimals: DECIMALS,
  bars: { sgw: '1,500 → 6,000 sent/s' },
  turn: (start) => sendAll(start, SLOW_PROVIDER_MS, SLOW_WARM_UP_MS, SLOW_LOAD_MS),
}

/** Accept → provider called → stored as sent, for as many messages as 64 connections bring in 2 s, until all are sent. */
export const benchSend = (): Promise<Row[]> => hold(INSTANT)

/** The same with a provider that takes 150 ms an answer, and what 64 connections bring in 1 s. */
export const benchSlowSend = (): Promise<Row[]> => hold(SLOW)

async function sendAll(
  start: Parameters<Contest<Figure>['turn']>[0],
  delayMs: number,
  warmUpMs: number,
  durationMs: number,
): Promise<Record<Figure, number>> {
  await using provider = await startProvider(delayMs)
  await using running = await start({ provider })
  const warmUp = await load(running, CONNECTIONS, warmUpMs)
  await allSent(running, provider, warmUp.accepted)
  const usedBefore = cpuMicroseconds(running.pids)
  const startedAt = performance.now()
  const { accepted, requestsPerSecond } = await load(running, CONNECTIONS, durationMs)
  await allSent(running, provider, warmUp.accepted + accepted)
  const seconds = (performance.now() - startedAt) / 1000
  const used = cpuMicroseconds(running.pids) - usedBefore
  return {
    'sent/s': accepted / seconds,
    'accepted/s': requestsPerSecond,
    'CPU µs': used / accepted,
    messages: accepted,
  }
}
