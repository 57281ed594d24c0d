import type { Source } from '../gateway/source.ts'

/** Messages of one burst, each on a connection of its own. The next burst waits for it, so that every commit has as many, however busy the machine is. */
export const BURST = 64

/** A way of messages through a gateway. */
export interface Path {
  name: string
  /** Starts the gateway of a commit, with nothing stored. */
  open(source: Source): Promise<Worker>
}

/** A running gateway. Disposing it ends its processes and removes its files. */
export interface Worker extends AsyncDisposable {
  pid: number
  /** Opens the connections of one turn. A gateway closes those that are silent while others have their turns. */
  connect(): Promise<Load>
}

export interface Load extends Disposable {
  /** Resolves when `BURST` more messages have passed the gateway. */
  burst(): Promise<void>
}
