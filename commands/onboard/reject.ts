/** `agent onboard reject` */
import { AnsweringCommand, answerFlags } from '../../cli/answering.ts'
import { qrTextArg, readDidRequest } from '../../cli/input/invitation.ts'

export default class OnboardReject extends AnsweringCommand {
  static override summary = 'Decline a DID request'
  static override description =
    'Whoever asks is told that there is no DID to be had; the request has ended then.'
  static override examples = [
    '<%= config.bin %> onboard reject request.json',
    'zbarcam --raw -1 | <%= config.bin %> onboard reject -',
  ]
  static override args = { request: qrTextArg }
  static override flags = answerFlags

  async run() {
    const { args, flags } = await this.parse(OnboardReject)
    const didRequest = readDidRequest(args.request)
    await this.introduce(
      { endpoint: didRequest.onboardEndpoint, from: didRequest.from, wants: 'asks for a DID and is told no' },
      flags.yes,
    )
    const answered = await this.call('POST /onboard/answers', { body: { didRequest, decline: true } })
    this.print(answered.endpoint, [
      ['from', answered.from],
      ['state', 'declined'],
    ])
    return answered
  }
}
