import { expect, test } from 'bun:test'
import type { History, Link } from '../../../src/db/history.ts'
import type { FetchedCopy } from '../../../src/operator/lease/copies.ts'
import { seededRandom } from '../../../src/simulator/random.ts'
import { type Newest, newestOf } from '../../../src/operator/lease/newest.ts'

/** A database, as far as histories go, with what it really has. */
interface State {
  links: readonly Link[]
  /** Every commit, by a name of its own. */
  commits: readonly string[]
}

const EMPTY: State = { links: [], commits: [] }

/** Gateways, a storage, and what was answered; every step is random. */
class Model {
  readonly files = new Map<string, State>()
  /** By epoch; 0 is the location itself. */
  readonly copies = new Map<number, State>()
  readonly answered = new Set<string>()
  /** Holders that were overtaken and may still upload. */
  readonly gone: { epoch: number; state: State }[] = []
  epoch = 0
  names = 0

  constructor(readonly random: () => number) {}

  /** A machine takes the lease, and commits for a while. Returns what it found to be the newest. */
  takeOver(machine: string): Newest {
    this.epoch++
    const newest = this.newest(machine)
    if (newest.type === 'fork') return newest
    const epoch = this.epoch
    let state = stateOf(newest, this.copies, this.files.get(machine) ?? EMPTY)
    // Some die before the first copy.
    if (this.random() < 0.2) return newest
    this.copies.set(epoch, state)
    const mark = `${machine}${this.names++}`
    for (let count = this.upTo(6); count > 0; count--) {
      state = this.commit(state, mark, epoch)
      this.files.set(machine, state)
      if (this.random() < 0.3) continue
      this.copies.set(epoch, state)
      for (const name of state.commits) this.answered.add(name)
    }
    for (let count = this.upTo(3); count > 0; count--) state = this.commit(state, mark, epoch)
    this.files.set(machine, state)
    this.gone.push({ epoch, state })
    return newest
  }

  /** An upload of a holder that was overtaken, or is about to be. Nobody is told of it. */
  uploadLate(): void {
    const late = this.gone[this.upTo(this.gone.length)]
    if (late !== undefined) this.copies.set(late.epoch, late.state)
  }

  /** A machine works without the lease; everything is answered. Sometimes it reaches the storage. */
  workAlone(machine: string): void {
    const mark = `${machine}${this.names++}`
    const before = this.files.get(machine) ?? EMPTY
    let state = before
    for (let count = 1 + this.upTo(3); count > 0; count--) state = this.commit(state, mark, null)
    for (const name of state.commits.slice(before.commits.length)) this.answered.add(name)
    this.files.set(machine, state)
    // Such a start is refused where the storage has anything that the file lacks.
    const others = [...this.copies.values()].flatMap(({ commits }) => commits)
    if (others.every((name) => state.commits.includes(name)) && this.random() < 0.7) this.copies.set(0, state)
  }

  newest(machine: string): Newest {
    const epochs = [...this.copies.keys()].filter((epoch) => epoch > 0).toSorted((one, other) => other - one)
    const copies = [...epochs.slice(0, 1), ...(this.copies.has(0) ? [0] : [])].map((epoch) => this.copyOf(epoch))
    const file = this.files.get(machine)
    return newestOf(copies, file === undefined ? null : { file: machine, history: historyOf(file) })
  }

  commit({ links, commits }: State, mark: string, epoch: number | null): State {
    const last = links.at(-1)
    const link = { mark, epoch, commits: last?.mark === mark ? last.commits + 1 : 1 }
    return { links: [...links.filter((one) => one.mark !== mark), link], commits: [...commits, `c${this.names++}`] }
  }

  copyOf(epoch: number): FetchedCopy {
    return { file: '', epoch, where: `e${epoch}`, history: historyOf(this.copies.get(epoch) ?? EMPTY), checked: null }
  }

  upTo = (count: number): number => Math.floor(this.random() * count)
}

const historyOf = ({ links }: State): History => ({
  links,
  givenUp: new Map(),
  epoch: null,
  counters: { incarnation: links.length === 0 ? null : 'one', numbers: new Map() },
  lastMessageAt: null,
})

function stateOf(newest: Newest, copies: ReadonlyMap<number, State>, file: State): State {
  if (newest.type === 'copy') return copies.get(newest.copy.epoch) ?? EMPTY
  return newest.type === 'local' ? file : EMPTY
}

const MACHINES = ['a', 'b', 'c']
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test(`nothing that was answered is given up without a question, and holders of a lease never cause one (seed ${SEED})`, () => {
  let forks = 0
  for (let run = 0; run < 3000; run++) {
    const model = new Model(seededRandom(SEED + run))
    const isAlone = run % 2 === 0
    for (let step = 0; step < 14; step++) {
      const machine = MACHINES[model.upTo(MACHINES.length)] ?? 'a'
      if (isAlone && model.random() < 0.15) model.workAlone(machine)
      else if (model.random() < 0.2) model.uploadLate()
      else {
        const [before, file] = [new Map(model.copies), model.files.get(machine) ?? EMPTY]
        const known = new Set([...before.values(), file].flatMap(({ commits }) => commits))
        const wasAnswered = [...model.answered].filter((name) => known.has(name))
        const newest = model.takeOver(machine)
        if (newest.type === 'fork') {
          forks++
          expect([SEED + run, isAlone]).toEqual([SEED + run, true])
          break
        }
        const taken = new Set(stateOf(newest, before, file).commits)
        const lost = wasAnswered.filter((name) => !taken.has(name))
        expect([SEED + run, lost]).toEqual([SEED + run, []])
      }
    }
  }
  expect(forks).toBeGreaterThan(0)
})
