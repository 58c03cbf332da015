/** Path of the API on the S3 port (spec, base address). */
export const basePath = '/api/v1/s3'
