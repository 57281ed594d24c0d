import { describe, expect, test } from 'bun:test'
import { keywordOf } from '../../src/core/keyword.ts'

const OUT =
  'STOP|STOPALL|UNSUBSCRIBE|END|QUIT|CANCEL|REVOKE|OPTOUT|OPT OUT|OPT-OUT|ARRET|ARRÊT|stop|Stop.|StOp!!!| stop\n|stop !|arrêt|ARRE\u0302T|opt-out…|\u00a0STOP'
const IN = 'START|UNSTOP|OPTIN|OPT IN|OPT-IN|start|Unstop.|opt in!'
const NEITHER =
  'STOP it|please stop|STOPP|ST OP|"STOP"|.STOP|S.T.O.P|OPT  OUT|OPT_OUT|STOPSTART|YES|HELP|INFO|0|!|__proto__|constructor|STOP🛑|ＳＴＯＰ|STOP\u0000'

describe('a text is a keyword only if it contains nothing else', () => {
  test.each(OUT.split('|'))('%j opts out', (text) => expect(keywordOf(text)).toBe('out'))
  test.each(IN.split('|'))('%j opts in', (text) => expect(keywordOf(text)).toBe('in'))
  test.each([...NEITHER.split('|'), '', ' ', '!'.repeat(50), `STOP${'!'.repeat(50)}`])('%j is not a keyword', (text) =>
    expect(keywordOf(text)).toBeNull(),
  )
})
