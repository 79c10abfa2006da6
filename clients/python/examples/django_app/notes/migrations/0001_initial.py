"""Made by makemigrations; the operation NeardupExtension was added."""

import neardup.django
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        neardup.django.NeardupExtension(),
        migrations.CreateModel(
            name="Note",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("author", models.IntegerField()),
                ("body", models.TextField()),
            ],
            options={
                "indexes": [neardup.django.LshIndex(neardup.django.ToMinhash("body"), name="note_body")],
                "constraints": [
                    neardup.django.NoCopiesConstraint(
                        name="note_no_copies", signature=neardup.django.ToMinhash("body"), threshold=0.8, within=("author",)
                    )
                ],
            },
        ),
    ]
