import { LISTS, type ListName, isOpen } from './list.ts'
import type { ReadConnection } from './read-connection.ts'
import { type CodeColumn, NULL_CODE, type Segment } from './segment.ts'
import type { SegmentStore } from './store.ts'

/**
 * The states of rows that were open when their segment was built. They may have changed without deleting the segment, so
 * they are read from the table until the row has ended. After that a change of the row deletes the segment, by an SQL trigger.
 */
export class RowStates {
  /** How many rows of a column are not known to have ended. */
  readonly #remaining = new WeakMap<CodeColumn, number>()
  readonly #outdated = new WeakSet<Segment>()

  constructor(
    readonly connection: ReadConnection,
    readonly store: SegmentStore,
  ) {}

  /** Whether the segment still says that rows are open, though they were all found to have ended. */
  isOutdated(segment: Segment): boolean {
    return this.#outdated.has(segment)
  }

  /** Brings the codes of these rows up to the snapshot of the connection. */
  refresh(list: ListName, segment: Segment, rows: readonly number[]): void {
    const column = this.store.column(segment, LISTS[list].state)
    const openCodes = openCodesOf(list, column)
    const isOpenRow = (row: number): boolean => openCodes.has(column.codes[row] ?? NULL_CODE)
    const open = rows.filter(isOpenRow)
    if (open.length > 0) this.#readCodes(list, segment, column, open)
    const before = this.#remaining.get(column) ?? segment.openRows
    const remaining = before - open.length + open.filter(isOpenRow).length
    this.#remaining.set(column, remaining)
    if (remaining === 0) this.#outdated.add(segment)
  }

  /** The states come as one text in the order of the rows, empty for null: the driver is slow at returning rows. */
  #readCodes(list: ListName, segment: Segment, { codes, dictionary }: CodeColumn, rows: readonly number[]): void {
    const { name, state } = LISTS[list]
    const sql = `SELECT group_concat(coalesce(${state}, '')) FROM json_each(?) AS open CROSS JOIN ${name} ON ${name}.seq = open.value`
    const all = this.store.seqs(segment)
    const seqs = JSON.stringify(rows.map((row) => all[row] ?? 0))
    const states = String(this.connection.value(sql, [seqs]) ?? '').split(',')
    for (const [index, row] of rows.entries()) {
      const code = dictionary.codeOf(states[index] ?? '')
      codes[row] = code === -1 ? NULL_CODE : code
    }
  }
}

function openCodesOf(list: ListName, { dictionary }: CodeColumn): Set<number> {
  const open = Object.keys(LISTS[list].states).filter((state) => isOpen(LISTS[list], state))
  return new Set([NULL_CODE, ...open.map((state) => dictionary.codeOf(state))])
}
