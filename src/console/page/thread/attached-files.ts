import { computed, signal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { count } from '../state/clock.ts'
import { standing } from '../state/standing.ts'
import { MAX_BYTES, problemsOf, safeName, typeOf } from './sendable-file.ts'
import { sizeText } from './size-text.ts'

/** Of the text beside them. */
const MAX_UNITS = 1000

/** Whether a text is too long to go with files. */
export const isTooLong = (text: string): boolean => text.length > MAX_UNITS

/** Whether a number is known to send only text. If it is not known, the send decides. */
export const isTextOnly = (number: string): boolean =>
  standing.value?.extensions.some(({ numbers }) =>
    numbers?.some(({ phoneNumber, canSendMedia }) => phoneNumber === number && canSendMedia === false),
  ) === true

/** The files of a draft. A file that cannot be sent says why, and nothing is sent until it is removed. */
export class AttachedFiles {
  readonly files = signal<readonly File[]>([])
  /** Why each of them cannot be sent; '' if it can. */
  readonly problems = computed(() => problemsOf(this.files.value))
  /** Which file is being uploaded, from 1; 0 for none. */
  readonly uploading = signal(0)
  /** Why the last upload failed, as a sentence; '' if it did not. */
  readonly error = signal('')

  add(files: readonly File[]): void {
    this.files.value = [...this.files.value, ...files]
    this.error.value = ''
  }

  remove(file: File): void {
    this.files.value = this.files.value.filter((each) => each !== file)
    this.error.value = ''
  }

  /** Whether they can be sent from a number, with a text. */
  canSend(number: string, text: string): boolean {
    return this.problems.value.every((problem) => problem === '') && !isTextOnly(number) && !isTooLong(text)
  }

  uploadingText(): string {
    return `Uploading ${this.uploading.value} of ${this.files.value.length}…`
  }

  /** `2 files, 412 KB of 1.5 MB, 12 of 1,000 characters`. */
  sizeWith(text: string): string {
    const { files, uploading } = this
    if (uploading.value > 0) return this.uploadingText()
    const bytes = files.value.reduce((sum, { size }) => sum + size, 0)
    const all = files.value.length === 1 ? '1 file' : `${files.value.length} files`
    return `${all}, ${sizeText(bytes)} of ${sizeText(MAX_BYTES)}, ${count(text.length)} of ${count(MAX_UNITS)} characters`
  }

  /** Uploads them. Returns the ids in order; null if one could not be uploaded. A file that was already uploaded keeps its id. */
  async upload(sgw: Sgw): Promise<string[] | null> {
    const mediaIds: string[] = []
    this.error.value = ''
    try {
      for (const [index, file] of this.files.value.entries()) {
        this.uploading.value = index + 1
        const typed = new Blob([file], { type: typeOf(file) })
        const { mediaId } = await whileSignedIn(sgw.sms.upload(typed, { fileName: safeName(file.name) }))
        mediaIds.push(mediaId)
      }
      return mediaIds
    } catch (error) {
      this.error.value = failureText(error)
      return null
    } finally {
      this.uploading.value = 0
    }
  }
}
