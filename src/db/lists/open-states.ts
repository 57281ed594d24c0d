import { LISTS, type ListName, isOpen } from './list.ts'
import type { ReadConnection } from './read-connection.ts'
import { type CodeColumn, NULL_CODE, type Segment } from './segment.ts'
import type { SegmentStore } from './store.ts'

/**
 * The states of the rows of a segment. A row that was open when the segment was built may have changed without deleting
 * it, so its state is read from the table until it has ended. After that only a trigger can change it, which deletes
 * the segment.
 */
export class OpenStates {
  /** The rows of a column that were still open at the last query. */
  private readonly openRows = new WeakMap<CodeColumn, number[]>()
  /** Segments whose rows have all ended. */
  private readonly ended = new WeakSet<Segment>()

  constructor(
    private readonly connection: ReadConnection,
    private readonly store: SegmentStore,
  ) {}

  /** The column of the states, as of the snapshot of the connection. */
  column(list: ListName, segment: Segment): CodeColumn {
    const column = this.store.column(segment, LISTS[list].state)
    if (segment.openRows > 0) this.refresh(list, segment, column)
    return column
  }

  /** Whether the segment still says that rows are open, though they were all found to have ended. */
  isOutdated(segment: Segment): boolean {
    return this.ended.has(segment)
  }

  private refresh(list: ListName, segment: Segment, column: CodeColumn): void {
    const { codes, dictionary } = column
    const openCodes = openCodesOf(list, column)
    const open = this.openRows.get(column) ?? rowsWith(openCodes, codes)
    if (open.length > 0) {
      const seqs = this.store.seqs(segment)
      const states = this.states(
        list,
        open.map((row) => seqs[row] ?? 0),
      )
      for (const [index, row] of open.entries()) {
        const state = states[index] ?? ''
        codes[row] = state === '' ? NULL_CODE : dictionary.codeOf(state)
      }
    }
    const stillOpen = open.filter((row) => openCodes.has(codes[row] ?? NULL_CODE))
    this.openRows.set(column, stillOpen)
    if (stillOpen.length === 0) this.ended.add(segment)
  }

  /** In the order of `seqs`; empty for null. As one text, because the driver is slow at returning rows. */
  private states(list: ListName, seqs: readonly number[]): string[] {
    const { name, state } = LISTS[list]
    const sql = `SELECT group_concat(coalesce(${state}, '')) FROM json_each(?) AS open CROSS JOIN ${name} ON ${name}.seq = open.value`
    return String(this.connection.value(sql, [JSON.stringify(seqs)]) ?? '').split(',')
  }
}

function rowsWith(wanted: ReadonlySet<number>, codes: Uint16Array): number[] {
  const rows: number[] = []
  for (const [row, code] of codes.entries()) if (wanted.has(code)) rows.push(row)
  return rows
}

function openCodesOf(list: ListName, { dictionary }: CodeColumn): Set<number> {
  const open = Object.keys(LISTS[list].states).filter((state) => isOpen(LISTS[list], state))
  return new Set([NULL_CODE, ...open.map((state) => dictionary.codeOf(state))])
}
