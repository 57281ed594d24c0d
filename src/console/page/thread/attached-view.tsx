import { computed, signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Sgw } from '../../../client/client.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { Refused } from '../parts/refused.tsx'
import { whileSignedIn } from '../state/caller.ts'
import { count } from '../state/clock.ts'
import { failureText } from '../state/failure.ts'
import { standing } from '../state/standing.ts'
import { dataUrlOf, sizeText } from './files.ts'
import { MAX_BYTES, problemsOf, safeName, typeOf } from './sendable-file.ts'
import './attached.css'

/** Of the text beside them. */
const MAX_UNITS = 1000

const TOO_LONG = 'With files, a text can have at most 1,000 characters. Shorten it, or remove them.'
const isTooLong = (text: string): boolean => text.length > MAX_UNITS

/** Whether a number is known to send only text. If it is not known, the send decides. */
const isTextOnly = (number: string): boolean =>
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

interface AttachedProps {
  attached: AttachedFiles
  /** Which of the tenant's numbers sends them. */
  number: string
  text: string
}

/** The files of a draft, each with its size and a button that removes it, and why they cannot be sent. */
export default function Attached({ attached, number, text }: AttachedProps) {
  const { files, problems, uploading, error } = attached
  return (
    <div class="attached">
      <ul class="actions" aria-label="Attached files">
        {files.value.map((file, index) => (
          <AttachedFile
            key={file}
            file={file}
            problem={problems.value[index] ?? ''}
            isUploading={uploading.value > 0}
            remove={() => attached.remove(file)}
          />
        ))}
      </ul>
      {/* Seen below the field, in place of the size. */}
      <p class="hidden" role="status">
        {uploading.value > 0 && attached.uploadingText()}
      </p>
      {isTextOnly(number) && (
        <p class="small bad" role="alert">
          <PhoneNumber value={number} /> cannot send pictures or other files. Choose another number, or remove them.
        </p>
      )}
      <Refused class="small bad" error={isTooLong(text) ? TOO_LONG : ''} />
      <Refused
        class="small bad"
        error={error.value && `${error.value} Nothing was sent, and your text and files stay here.`}
      />
    </div>
  )
}

interface AttachedFileProps {
  file: File
  problem: string
  isUploading: boolean
  remove: () => void
}

const AttachedFile = ({ file, problem, isUploading, remove }: AttachedFileProps) => (
  <li class={problem === '' ? 'line' : 'line bad'}>
    <Preview file={file} />
    <span class="small stack attached-name">
      <span class="clip mask">{file.name}</span>
      <span class={problem === '' ? 'dim' : ''} role={problem === '' ? undefined : 'alert'}>
        {sizeText(file.size)}
        {problem !== '' && `. ${problem}.`}
      </span>
    </span>
    <IconButton class="tiny" icon="failed" label={`Remove ${file.name}`} isDisabled={isUploading} run={remove} />
  </li>
)

/** A larger file is not shown, so that it cannot freeze the page. */
const MAX_PREVIEW_BYTES = 8_000_000

function Preview({ file }: { file: File }) {
  const url = useSignal('')
  useEffect(() => {
    if (file.type.startsWith('image/') && file.size <= MAX_PREVIEW_BYTES)
      void dataUrlOf(file).then(
        (read) => void (url.value = read),
        () => undefined,
      )
  }, [file])
  const noPicture = (): void => void (url.value = '')
  return url.value === '' ? (
    <span class="small dim attached-picture">{kindOf(file)}</span>
  ) : (
    <img class="attached-picture" src={url.value} alt="" onError={noPicture} />
  )
}

/** `PDF`, from the end of the name, otherwise from the type. */
const kindOf = ({ name, type }: File): string =>
  (/\.(\w{1,4})$/.exec(name)?.[1] ?? (type.replace(/^.*\//, '') || 'file')).slice(0, 4).toUpperCase()
