import type { InputHTMLAttributes, TargetedEvent } from 'preact'

/** What a person typed into the field of a name, without the spaces around it. */
export type Typed = (name: string) => string

/** Handles a form in place of the browser. */
export const submitted =
  (run: (typed: Typed) => unknown) =>
  (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    void run((name) => String(fields.get(name) ?? '').trim())
  }

export const Field = ({ label, ...input }: { label: string } & InputHTMLAttributes) => (
  <label class="asked">
    {label}
    <input class="field" autoComplete="off" {...input} />
  </label>
)
