/**
 * Present Proof 3.0: its handlers. `verifier.ts` and `prover.ts` have the two sides, `exchange/transports.ts`
 * the tasks.
 */
import type { Flow } from '../engine/composition.ts'
import { presentProof } from './model.ts'
import { onRequest } from './prover.ts'
import { onPresentation } from './verifier.ts'
import { didcommOrgMessages } from '../../definitions/present-proof.ts'

export const presentationFlow: Flow = {
  protocol: presentProof,
  handlers: {
    [presentProof.messages.request]: onRequest,
    [presentProof.messages.presentation]: onPresentation,
    [didcommOrgMessages.request]: onRequest,
    [didcommOrgMessages.presentation]: onPresentation,
  },
}
