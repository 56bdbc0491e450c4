/** `agent auth respond` */
import * as Flags from '@oclif/core/flags'
import { AnsweringCommand, answerFlags } from '../../cli/answering.ts'
import { qrTextArg, readChallenge } from '../../cli/input/invitation.ts'

export default class AuthRespond extends AnsweringCommand {
  static override summary = 'Sign in: answer a challenge with a DID of this wallet'
  static override description =
    'Shows who asks, and asks whether to answer when there is a terminal. A challenge that says it is of somebody else than what is to be signed is not signed.'
  static override examples = [
    '<%= config.bin %> auth respond challenge.json --did did:peer:2…',
    'zbarcam --raw -1 | <%= config.bin %> auth respond - --did did:peer:2…',
  ]
  static override args = { challenge: qrTextArg }
  static override flags = {
    did: Flags.string({
      required: true,
      description: 'the DID to sign in with; the other side knows it from onboarding',
    }),
    ...answerFlags,
  }

  async run() {
    const { args, flags } = await this.parse(AuthRespond)
    const challenge = readChallenge(args.challenge)
    await this.introduce(
      { endpoint: challenge.submissionEndpoint, from: challenge.from, wants: 'asks you to sign in' },
      flags.yes,
    )
    const answered = await this.call('POST /did-authentication/answers', {
      body: { challenge, did: flags.did },
    })
    this.print(answered.did, [
      ['did', answered.did],
      ['from', answered.from],
      ['state', 'signed in'],
    ])
    return answered
  }
}
