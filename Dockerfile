# PostgreSQL's official image with neardup in it: the extension, its SQL scripts, the program and the libraries that they need.
#   docker build -t neardup .     docker build --build-arg BASE=postgres:16-bookworm -t neardup:16 .
#   docker run -d --name neardup -e POSTGRES_PASSWORD=... neardup
#   docker exec neardup psql -U postgres -c 'CREATE EXTENSION neardup'
ARG BASE=postgres:17-bookworm

FROM ${BASE} AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ libbz2-dev libgmime-3.0-dev liblzma-dev libopencc-dev libpq-dev libre2-dev \
    libsimdjson-dev libuchardet-dev libxml2-dev libxxhash-dev libzstd-dev make pkg-config "postgresql-server-dev-$PG_MAJOR" zlib1g-dev
COPY . /src
ENV PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
RUN make -C /src -j"$(nproc)" PG_CONFIG="$PG_CONFIG" CUDA=no WITH_OPENCC=yes WITH_RE2=yes WITH_UCHARDET=yes \
    WITH_SIMDJSON=yes WITH_GMIME=yes WITH_LIBXML2=yes WITH_ZSTD=yes WITH_LZMA=yes WITH_BZIP2=yes all \
 && make -C /src PG_CONFIG="$PG_CONFIG" CUDA=no install DESTDIR=/image \
 && strip --strip-unneeded "/image$("$PG_CONFIG" --pkglibdir)/neardup.so" "/image$("$PG_CONFIG" --bindir)/neardup"
# The packages of the libraries have other names in each release of Debian: they are read off what is linked.
RUN objdump -p "/image$("$PG_CONFIG" --pkglibdir)/neardup.so" "/image$("$PG_CONFIG" --bindir)/neardup" \
  | awk '$1 == "NEEDED" { print "*/" $2 }' | sort -u | xargs dpkg-query -S | cut -d: -f1 | sort -u >/image.packages

FROM ${BASE}
COPY --from=build /image.packages /tmp/image.packages
RUN apt-get update \
 && xargs apt-get install -y --no-install-recommends </tmp/image.packages \
 && rm -rf /var/lib/apt/lists/* /tmp/image.packages
COPY --from=build /image /
