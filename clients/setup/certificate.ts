import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './command.ts'
import { needCommand } from './debian.ts'

/** A key and a certificate for 127.0.0.1 that signs itself, in a new temporary directory; good for two days. */
export async function selfSigned(): Promise<{ directory: string; certificate: string; key: string }> {
  await needCommand('openssl', ['version'], ['openssl'])
  const directory = await mkdtemp(join(tmpdir(), 's3proxy-certificate-'))
  const [certificate, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')]
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-keyout', key, '-out', certificate]
  await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-noenc', '-days', '2', ...name, ...files])
  return { directory, certificate, key }
}
