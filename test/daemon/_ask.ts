/** Requests with headers that `fetch` writes by itself. */
import { request } from 'node:http'

/** The status of an answer to a request for the health, with these headers. */
export function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/_system/health`, { headers }, (response) =>
      resolve(response.resume().statusCode),
    )
    sent.on('error', reject).end()
  })
}
