/** What can be done with a DID. */
import type { Did } from '../data/data.ts'
import type { Action } from './action.ts'
import { copying } from './copying.ts'
import { tracing } from './tracing.ts'
import { publishDid } from './own-dids.ts'

export function didActions({ did, status, pendingOperation }: Did): Action[] {
  const canBePublished = status === 'CREATED' && pendingOperation === undefined
  return [...(canBePublished ? [publishing(did)] : []), ...tracing(did), ...copying('DID', did)]
}

function publishing(did: string): Action {
  return {
    key: 'p',
    word: 'publish',
    run: async (desk) => {
      desk.say('Publishing …')
      await publishDid(desk, did)
      return 'The DID is on its way to the ledger; its state tells when it is published.'
    },
  }
}
