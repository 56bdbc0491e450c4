import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { answerFlags, signIn } from '../../cli/answer-request.ts'
import { incomingArgument, readIncoming } from '../../cli/incoming.ts'

export default defineCommand({
  summary: 'Sign in: answer a challenge with a DID of this wallet',
  description:
    'Prints the sender and, at a terminal, asks for confirmation. Does not sign a challenge whose sender differs from the one in the text to be signed.',
  examples: [
    'agent signin respond challenge.json --did did:peer:2…',
    'zbarcam --raw -1 | agent signin respond - --did did:peer:2…',
  ],
  args: { challenge: incomingArgument },
  flags: {
    did: Flags.string({
      required: true,
      description: 'the DID to sign in with, known to the other side from onboarding',
    }),
    ...answerFlags,
  },
  async run(context) {
    const { args, flags, call } = context
    return signIn(context, await readIncoming(call, args.challenge, 'challenge'), flags.did)
  },
})
