import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../../bench/torture/program.ts'
import { TortureStage } from '../../../bench/torture/stage.ts'
import { sgw } from '../../support/process.ts'

/** Three pages of the list. A list is begun a minute after a start, and a page is read every two seconds. */
const COUNT = 1200
const LIST_MS = 120_000
const TIMEOUT_MS = 400_000

const contactOf = (n: number): string => `+1555556${String(n).padStart(4, '0')}`
/** One of each page has a conversation. */
const WITH_CONVERSATION = [100, 600, 1100].map(contactOf)

interface Stored {
  consents: number
  optOuts: string[]
  events: number
  isKnown: boolean
}

function read(path: string): Stored {
  using database = new Database(path, { readonly: true })
  const all = (sql: string): unknown[] => database.query<Record<string, unknown>, []>(sql).values().flat()
  return {
    consents: Number(all('SELECT count(*) FROM consents')[0]),
    optOuts: all('SELECT contact FROM opt_outs WHERE opted_out = 1 ORDER BY contact').map(String),
    events: Number(all('SELECT count(*) FROM events WHERE kinds & 64')[0]),
    isKnown: all(`SELECT value FROM facts WHERE name LIKE 'consents_of:%'`)[0] === 'known',
  }
}

/** An account with opt-outs whose first list has not begun. */
async function openStage(): Promise<TortureStage> {
  const stage = await TortureStage.open({ extensions: 1, numbersPerExtension: 1 })
  const [number = ''] = stage.numbers
  await stage.control.configure({ consents: 'shown' })
  for (const from of WITH_CONVERSATION) await stage.control.injectSms({ from, to: number, text: 'Hello' })
  for (let n = 0; n < COUNT; n++) await stage.control.addConsent({ from: number, to: contactOf(n), modifiedAt: at(n) })
  return stage
}

const SINCE = Date.parse('2026-01-01T00:00:00Z')
const at = (n: number): number => SINCE + n * 1000

const untilMiddle = ({ databasePath }: TortureStage): Promise<Stored> =>
  eventually('The middle of the list', LIST_MS, () => {
    const stored = read(databasePath)
    return stored.consents > 0 ? stored : null
  })

const untilKnown = ({ databasePath }: TortureStage): Promise<Stored> =>
  eventually('The end of the list', LIST_MS, () => {
    const stored = read(databasePath)
    return stored.isKnown ? stored : null
  })

const WHOLE: Stored = { consents: COUNT, optOuts: WITH_CONVERSATION, events: 0, isKnown: true }

test.concurrent(
  'a first list of consents that a kill breaks off is read again after the start, without events and with nothing twice',
  async () => {
    await using stage = await openStage()
    await untilMiddle(stage)
    await stage.gateway.kill()
    const middle = read(stage.databasePath)
    expect(middle).toMatchObject({ events: 0, isKnown: false })
    expect(middle.consents).toBeLessThan(COUNT)
    await stage.gateway.start()
    expect(await untilKnown(stage)).toEqual(WHOLE)
  },
  TIMEOUT_MS,
)

test.concurrent(
  'a gateway from a backup of the middle of its first list of consents reads it to its end, without events and with nothing twice',
  async () => {
    await using stage = await openStage()
    const copy = join(stage.folder, 'copy.db')
    await untilMiddle(stage)
    const { code, stderr } = await sgw(['backup', copy], stage.gateway.environment)
    expect({ code, stderr: stderr.replace(/^The copy does not contain the encryption key.*\n/, '') }).toEqual({
      code: 0,
      stderr: '',
    })
    const middle = read(copy)
    expect(middle).toMatchObject({ events: 0, isKnown: false })
    expect(middle.consents).toBeLessThan(COUNT)
    expect(await untilKnown(stage)).toEqual(WHOLE)
    await stage.gateway.terminate()
    for (const file of ['-wal', '-shm']) rmSync(`${stage.databasePath}${file}`, { force: true })
    renameSync(copy, stage.databasePath)
    await stage.gateway.start()
    expect(read(stage.databasePath).isKnown).toBe(false)
    expect(await untilKnown(stage)).toEqual(WHOLE)
  },
  TIMEOUT_MS,
)
