/** `/vdr`: entries of the verifiable data registry. A tenant owns an entry; anyone who has its URL reads it. */
import { buffer } from 'node:stream/consumers'
import * as z from 'zod'
import type { Config } from '../../src/foundation/config/config.ts'
import { toDriverName } from '../../src/wallet/vdr-entries/url.ts'
import {
  createEntry,
  CreateVdrEntryResponse,
  deleteEntry,
  DeleteVdrEntryResponse,
  readEntry,
  readOperationStatus,
  readProof,
  updateEntry,
  UpdateVdrEntryResponse,
  VdrOperationStatus,
  VdrProof,
} from '../../src/wallet/vdr-entries/entries.ts'
import { route } from '../http/route.ts'

const bytes = 'application/octet-stream' as const
const stream = { media: bytes, limit: (config: Config) => config.VDR_ENTRY_BYTES }

const EntryUrl = z.object({ url: z.string().describe('The URL of the entry.') })
const KeyRef = z
  .string()
  .optional()
  .describe('The VDR key that signs, for an entry on the ledger: `<DID>#<key id>`, or a key id.')
const OwnEntry = EntryUrl.extend({ didKeyId: KeyRef })

export default [
  route(
    'POST /vdr/entries',
    {
      summary: 'Create a VDR entry',
      operationId: 'createVdrEntry',
      access: 'tenant',
      scopes: ['issuer'],
      query: z.object({
        drf: z.string().optional().describe('The family of the driver.'),
        drid: z.string().optional().describe('The driver. Default: the first that is enabled.'),
        drv: z.string().optional().describe('The version of the driver.'),
        didKeyId: KeyRef,
      }),
      stream,
      reply: [201, CreateVdrEntryResponse],
    },
    async ({ wallet }, { query: { drf, drid, drv, didKeyId }, stream: content }) =>
      createEntry(wallet, await buffer(content), toDriverName(drf, drid, drv), didKeyId),
  ),

  route(
    'GET /vdr/entries',
    {
      summary: 'Read a VDR entry',
      operationId: 'getVdrEntry',
      access: 'public',
      perAddress: 'VDR_READS_PER_MINUTE',
      query: EntryUrl,
      media: [bytes],
      reply: [200, z.string().meta({ format: 'binary' })],
    },
    async ({ agent }, { query }) => ({ type: bytes, body: await readEntry(agent.env, query.url) }),
  ),

  route(
    'PUT /vdr/entries',
    {
      summary: 'Replace the content of a VDR entry',
      operationId: 'updateVdrEntry',
      access: 'tenant',
      scopes: ['issuer'],
      query: OwnEntry,
      stream,
      reply: [200, UpdateVdrEntryResponse],
    },
    async ({ wallet }, { query: { url, didKeyId }, stream: content }) =>
      updateEntry(wallet, url, await buffer(content), didKeyId),
  ),

  route(
    'DELETE /vdr/entries',
    {
      summary: 'Delete a VDR entry',
      operationId: 'deleteVdrEntry',
      access: 'tenant',
      scopes: ['issuer'],
      query: OwnEntry,
      reply: [200, DeleteVdrEntryResponse],
    },
    ({ wallet }, { query: { url, didKeyId } }) => deleteEntry(wallet, url, didKeyId),
  ),

  route(
    'GET /vdr/proofs',
    {
      summary: 'Read the digest of a VDR entry',
      operationId: 'vdrEntryProof',
      access: 'public',
      perAddress: 'VDR_READS_PER_MINUTE',
      query: EntryUrl,
      reply: [200, VdrProof],
    },
    ({ agent }, { query }) => readProof(agent.env, query.url),
  ),

  route(
    'GET /vdr/operations/{operationId}',
    {
      summary: 'Read the status of an operation on the ledger',
      operationId: 'getVdrOperationStatus',
      access: 'public',
      perAddress: 'VDR_READS_PER_MINUTE',
      path: { operationId: z.string().max(100) },
      reply: [200, VdrOperationStatus],
    },
    ({ agent }, { path }) => readOperationStatus(agent.env, path.operationId),
  ),
] as const
