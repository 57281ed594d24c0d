import { systemClock } from '../../core/clock.ts'
import type { BackupSettings } from '../backup/settings.ts'
import { LeaseObject } from './lease-object.ts'
import { ObjectStore } from './object-store.ts'
import { Renewal, type Wish } from './renewal.ts'

// The renewal thread.

/** The state from which a renewal continues: see `LeaseObject`. */
export interface RenewedSoFar {
  settings: BackupSettings
  writer: string
  written: number
  etag: string
}

/** `from`: only in the first request. */
export interface RenewalRequest {
  from: RenewedSoFar | null
  wish: Wish
}

declare const self: Worker

let renewal: Renewal | null = null

self.addEventListener('message', ({ data: { from, wish } }: MessageEvent<RenewalRequest>) => {
  if (from === null) return renewal?.hear(wish)
  const object = new LeaseObject(new ObjectStore(from.settings), from.writer)
  object.noteWritten(from.written)
  renewal = new Renewal(object, from.etag, wish, systemClock, (notice) => self.postMessage(notice))
})
