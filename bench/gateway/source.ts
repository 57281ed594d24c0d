import { PROJECT } from '../../test/support/program.ts'

/** The source code of one commit, with its dependencies installed. */
export interface Source {
  /** Names its rows in the tables. */
  label: string
  folder: string
}

/** The working copy that this bench is part of. */
export const OURS: Source = { label: 'sgw', folder: PROJECT }
