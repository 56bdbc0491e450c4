import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { anchorFields, type AnchorInput } from '../../cli/format/trust-anchor.ts'
import { argument, repeatable } from '../../cli/input/arguments.ts'
import { readInputBytes } from '../../cli/input/files.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'

export default defineCommand({
  summary: 'Trust an authority or an issuer',
  description:
    'Certificate chains of issuers and verifiers may then end at the certificate in the file. A DID or the key identifier of an authority matters for proof requests with --trusted. With --signer the file is a list of authorities for documents (VICAL), which is verified and replaces an earlier one of its provider.',
  examples: [
    'agent trust add root.pem --name "Example Root"',
    'agent trust add iaca.pem --doc-type org.iso.18013.5.1.mDL',
    'agent trust add vical.cbor --signer provider.pem',
    'agent trust add did:web:issuer.example',
    'agent trust add aki:s9tIpPmhxdiuNkHMEWNpYim8S8Y',
  ],
  args: {
    anchor: argument(
      'file with a certificate in PEM or a list (- for standard input), a DID, or aki:<key identifier>',
    ),
  },
  flags: {
    name: Flags.string({ description: 'label for people' }),
    signer: Flags.string({
      description: 'file with the certificate of the provider in PEM, for a list of authorities (VICAL)',
    }),
    'doc-type': Flags.string({
      ...repeatable,
      description: 'type of documents (ISO mdoc) that the certificate is trusted for alone; may be repeated',
    }),
  },
  async run({ args, flags, call, print }) {
    const body = { ...toInput(args.anchor, flags.signer), name: flags.name, docTypes: flags['doc-type'] }
    const made = await call('POST /trust-anchors', { body })
    print(made.id, anchorFields(made))
    return made
  },
})

function toInput(anchor: string, signer: string | undefined): Pick<AnchorInput, 'type' | 'value' | 'signer'> {
  if (anchor.startsWith('did:')) return { type: 'did', value: anchor }
  if (anchor.startsWith('aki:')) return { type: 'aki', value: anchor.slice('aki:'.length) }
  if (signer === undefined) return { type: 'x509', value: readBytes(anchor).toString() }
  return { type: 'vical', value: readBytes(anchor).toString('base64'), signer: readBytes(signer).toString() }
}

function readBytes(file: string): Buffer {
  const remedy = 'Give a file with a certificate in PEM, a DID, or aki:<key identifier>.'
  try {
    const bytes = readInputBytes(file)
    if (bytes.length > 0) return bytes
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} cannot be read: ${systemReason(error)}. ${remedy}`)
  }
  throw new UsageError(`${file} is empty. ${remedy}`)
}
