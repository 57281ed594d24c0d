import { closePanel } from '../frame/panel.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { singleKeys } from '../state/settings.ts'

const KEYS: readonly [keys: readonly string[], does: string][] = [
  [['j', 'k'], 'next and previous row'],
  [['Enter'], 'open'],
  [['Esc'], 'close'],
  [['/', 'Ctrl K'], 'search'],
  [['r'], 'answer in the open conversation'],
  [['c'], 'copy the id of what is open, or its contact'],
  [['g', 't'], 'go to All tenants'],
  [['g', 'o'], 'go to Overview'],
  [['g', 'm'], 'go to Messages'],
  [['g', 'c'], 'go to Conversations, or to Phone'],
  [['g', 'w'], 'go to Webhooks'],
  [['g', 'n'], 'go to Numbers'],
  [['g', 'a'], 'go to Apps'],
  [['p'], 'hide texts and numbers'],
  [['u'], 'times in UTC'],
  [['?'], 'these keys'],
]

/** The list of keys, and the switch for those that are single letters. */
export const KeysHelp = () => (
  <Dialog title="Keys" close={closePanel}>
    <dl class="key-list">
      {KEYS.map(([keys, does]) => (
        <>
          <dt>{keys.map((key, index) => [index > 0 ? ' ' : '', <kbd>{key}</kbd>])}</dt>
          <dd>{does}</dd>
        </>
      ))}
    </dl>
    <label class="line check-line">
      <input
        type="checkbox"
        checked={singleKeys.value === 'on'}
        onChange={({ currentTarget }) => void (singleKeys.value = currentTarget.checked ? 'on' : 'off')}
      />
      Single letters are keys. Switch this off for speech input.
    </label>
    <div class="actions">
      <Button text="Close" run={closePanel} />
    </div>
  </Dialog>
)
