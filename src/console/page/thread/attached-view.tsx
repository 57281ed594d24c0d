import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { IconButton } from '../parts/icon-button.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { AttachedFiles, isTextOnly, isTooLong } from './attached-files.ts'
import { dataUrlOf } from './data-url.ts'
import { sizeText } from './size-text.ts'
import './attached.css'

export const newAttachedFiles = (): AttachedFiles => new AttachedFiles()

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
      {isTooLong(text) && (
        <p class="small bad" role="alert">
          With files, a text can have at most 1,000 characters. Shorten it, or remove them.
        </p>
      )}
      {error.value !== '' && (
        <p class="small bad" role="alert">
          {error.value} Nothing was sent, and your text and files stay here.
        </p>
      )}
    </div>
  )
}

interface AttachedFileProps {
  file: File
  /** Why it cannot be sent; '' if it can. */
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

/** The picture, or the kind of any other file. */
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
