import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { answerFlags, confirmSender } from '../../cli/enterprise.ts'
import { qrTextArg, readChallenge } from '../../cli/input/invitation.ts'

export default defineCommand({
  summary: 'Sign in: answer a challenge with a DID of this wallet',
  description:
    'Prints the sender and, at a terminal, asks for confirmation. Does not sign a challenge whose sender differs from the one in the text to be signed.',
  examples: [
    'agent signin respond challenge.json --did did:peer:2…',
    'zbarcam --raw -1 | agent signin respond - --did did:peer:2…',
  ],
  args: { challenge: qrTextArg },
  flags: {
    did: Flags.string({
      required: true,
      description: 'the DID to sign in with, known to the other side from onboarding',
    }),
    ...answerFlags,
  },
  async run(context) {
    const { args, flags, call, print } = context
    const challenge = await readChallenge(call, args.challenge)
    await confirmSender(context, {
      endpoint: challenge.submissionEndpoint,
      from: challenge.from,
      wants: 'asks you to sign in',
    })
    const answered = await call('POST /did-authentication/answers', {
      body: { challenge, did: flags.did },
    })
    print(answered.did, [
      ['did', answered.did],
      ['from', answered.from],
      ['state', 'signed in'],
    ])
    return answered
  },
})
