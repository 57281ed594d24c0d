import { useSignal } from '@preact/signals'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { SIGNATURE_SNIPPETS } from './snippets.ts'
import '../style/segmented.css'

/** How a receiver checks signatures. It is code to copy and no form, because a secret does not belong into a page. */
export function SignatureSnippet() {
  const shown = useSignal(0)
  const code = SIGNATURE_SNIPPETS[shown.value]?.code ?? ''
  return (
    <details open>
      <summary class="line">
        <Icon name="right" />
        Check a signature
      </summary>
      <div class="snippet">
        <p class="small dim">
          Every webhook is signed with the secret that was shown when its destination was made. Keep it in the
          environment of your program.
        </p>
        <div class="snippet-head">
          <div class="segmented" role="group" aria-label="Language">
            {SIGNATURE_SNIPPETS.map(({ name }, index) => (
              <button
                key={name}
                type="button"
                aria-pressed={index === shown.value}
                onClick={() => void (shown.value = index)}
              >
                {name}
              </button>
            ))}
          </div>
          <CopyButton text={code} label="Copy the code" />
        </div>
        <pre tabIndex={0} aria-label="Code that checks a signature">
          {code}
        </pre>
      </div>
    </details>
  )
}
