import { defineCommand } from '../../cli/define-command.ts'
import { urlArgument } from '../../cli/vdr.ts'

export default defineCommand({
  summary: 'Show the digest of an entry of the verifiable data registry',
  examples: ["agent vdr proof '<url>'"],
  args: { url: urlArgument },
  async run({ args: { url }, call, print }) {
    const proof = await call('GET /vdr/proofs', { query: { url } })
    print(proof.proof, [
      ['type', proof.type],
      ['digest', proof.proof],
    ])
    return proof
  },
})
