/** `agent onboard submit` */
import * as Flags from '@oclif/core/flags'
import { AnsweringCommand, answerFlags } from '../../cli/answering.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { qrTextArg, readDidRequest } from '../../cli/input/invitation.ts'

export default class OnboardSubmit extends AnsweringCommand {
  static override summary = 'Answer a DID request with a DID of this wallet'
  static override description =
    'Shows who asks, and asks whether to answer when there is a terminal. A new DID (--new) is given to nobody else.'
  static override examples = [
    '<%= config.bin %> onboard submit request.json --new',
    'zbarcam --raw -1 | <%= config.bin %> onboard submit - --did did:prism:…',
  ]
  static override args = { request: qrTextArg }
  static override flags = {
    did: Flags.string({ exclusive: ['new'], description: 'the DID to hand over' }),
    new: Flags.boolean({ description: 'make a did:peer to hand over' }),
    ...answerFlags,
  }

  async run() {
    const { args, flags } = await this.parse(OnboardSubmit)
    const { did } = flags
    if (did === undefined && !flags.new)
      throw new UsageError('Say which DID to hand over: --did, or --new to make one.')
    const didRequest = readDidRequest(args.request)
    await this.introduce(
      { endpoint: didRequest.onboardEndpoint, from: didRequest.from, wants: 'asks for a DID' },
      flags.yes,
    )
    const answered = await this.call('POST /onboard/answers', { body: { didRequest, did } })
    this.print(answered.did!, [
      ['did', answered.did],
      ['from', answered.from],
      ['state', 'handed over'],
    ])
    return answered
  }
}
